"""In the description of the API a name stands for one shape: a client that is generated from it would else send or read another one's fields."""

from collections import defaultdict

from dashboard.api.root import api


def models():
    """What each operation takes and gives."""
    for _, router in api._routers:  # ninja offers no other way to its operations
        for view in router.path_operations.values():
            for operation in view.operations:
                yield from operation.models
                yield from (
                    model for model in operation.response_models.values() if hasattr(model, "model_json_schema")
                )


def test_no_two_schemas_share_a_name_and_differ_in_their_fields() -> None:
    shapes = defaultdict(set)
    for model in models():
        for name, shape in model.model_json_schema().get("$defs", {}).items():
            shapes[name].add(repr(sorted(shape.get("properties", {}).items())))
    assert "Problem" in shapes
    assert sorted(name for name, found in shapes.items() if len(found) > 1) == []
