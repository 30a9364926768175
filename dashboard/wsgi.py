"""The web server's entry point: `gunicorn dashboard.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

from workers.keys import make_keys, var_folder

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

# Before settings are read: a key made up for one process would end sessions, and break the journal's chains, with it.
make_keys(var_folder())
application = get_wsgi_application()
