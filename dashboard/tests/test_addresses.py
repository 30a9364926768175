"""The addresses that mails and statuses name are those of the pages."""

import pytest
from django.urls import reverse

from leaks.addresses import PATHS, address, path


@pytest.mark.parametrize("page", sorted(PATHS))
@pytest.mark.parametrize("name", ["LKS-7F3A", "asan / <b> & co", "a,b:c;d=e@f", "名前", "50%"])
def test_each_is_the_address_of_its_page(page, name):
    names = ["engine", name][: PATHS[page].count("{}")]
    if "/" in name and page != "lane":
        return
    assert path(page, *names) == reverse(page, args=names)


def test_without_an_address_of_the_site_there_is_none():
    assert address("", "commit", "engine", "a" * 40) == ""
    assert address("https://l.example/sub/", "overview", "engine") == "https://l.example/sub/p/engine/"
