"""Django's settings. Everything a deployment may change comes from the environment: see `docs/settings.md`.

Importing this module writes nothing: folders and keys are made by `manage.py serve` and `manage.py migrate`.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from kombu import Exchange, Queue

from dashboard import env
from dashboard.env import STATIC_STORAGES, queue_folders

BASE_DIR = Path(__file__).resolve().parent.parent
LEAKLEDGER_VAR = env.folder("LEAKLEDGER_VAR", BASE_DIR / "var")

# --- Secrets ---------------------------------------------------------------------------------------------------------

SECRET_KEY = env.key("SECRET_KEY", LEAKLEDGER_VAR / "secret.key")
# The journal's chains are keyed outside the database: who can write rows still cannot forge history.
LEAKLEDGER_JOURNAL_KEY = env.key("LEAKLEDGER_JOURNAL_KEY", LEAKLEDGER_VAR / "journal.key")

# --- Web -------------------------------------------------------------------------------------------------------------

DEBUG = env.flag("DEBUG")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ("127.0.0.1", "localhost", "[::1]"))
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "axes",
    "leaks",
    "workers",
    "dashboard",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    # Last, as its documentation asks: it turns the lock-out of a login into an answer.
    "axes.middleware.AxesMiddleware",
]

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# No unsafe-inline and no unsafe-eval: plotly's own styles come from dashboard/static/plotly.css instead.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        **{name: [NONE] for name in ("default-src", "base-uri", "frame-ancestors")},
        **{name: [SELF] for name in ("script-src", "style-src", "connect-src", "font-src", "form-action")},
        "img-src": [SELF, "data:"],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

LEAKLEDGER_HTTPS = env.flag("LEAKLEDGER_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LEAKLEDGER_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if LEAKLEDGER_HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if LEAKLEDGER_HTTPS else None

# A form body is held in memory; a file goes to disk beyond the second bound; the third one bounds a lane's archive.
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
LEAKLEDGER_MAX_LOG_BYTES = env.number("LEAKLEDGER_MAX_LOG_MB", 1024, minimum=1) * 1024 * 1024
LEAKLEDGER_MAX_HOOK_BYTES = env.number("LEAKLEDGER_MAX_HOOK_MB", 25, minimum=1) * 1024 * 1024
LEAKLEDGER_MAX_UPLOAD_BYTES = env.number("LEAKLEDGER_MAX_UPLOAD_MB", 256, minimum=1) * 1024 * 1024

# --- People ----------------------------------------------------------------------------------------------------------

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "/"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
# Both together: a name alone would let anyone lock a colleague out.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_VERBOSE = False

# --- Rows and bytes --------------------------------------------------------------------------------------------------

DATABASES = {"default": env.database("DATABASE_URL", f"sqlite:///{LEAKLEDGER_VAR / 'leakledger.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A deferred transaction that turns from reading to writing fails at once, whatever the timeout: hence IMMEDIATE.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS = env.redis("REDIS_URL")
CACHES: dict[str, dict[str, Any]] = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
if REDIS:
    CACHES["default"] = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS.cache}

# --- Static files ----------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = LEAKLEDGER_VAR / "static"
APP_FINDER = "django.contrib.staticfiles.finders.AppDirectoriesFinder"
STATICFILES_FINDERS = [APP_FINDER, "dashboard.static_finders.PlotlyFinder"]
LEAKLEDGER_STATIC = env.choice("LEAKLEDGER_STATIC", "plain" if DEBUG else "manifest", tuple(STATIC_STORAGES))
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = LEAKLEDGER_STATIC == "plain"
WHITENOISE_KEEP_ONLY_HASHED_FILES = LEAKLEDGER_STATIC == "compressed"

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": LEAKLEDGER_VAR}},
    "staticfiles": {"BACKEND": STATIC_STORAGES[LEAKLEDGER_STATIC]},
    "logs": env.log_storage("LOG_STORAGE", LEAKLEDGER_VAR / "logs"),
}

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

# --- Queue -----------------------------------------------------------------------------------------------------------

CELERY_TIMEZONE = "UTC"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
# The rows are the result; a second place for it could only disagree.
CELERY_TASK_IGNORE_RESULT = True
# Keys of their own: left out, both would get the default key, and each message would reach both queues.
CELERY_TASK_QUEUES = tuple(Queue(name, Exchange(name), routing_key=name) for name in ("digest", "upkeep"))
CELERY_TASK_DEFAULT_QUEUE = "digest"
CELERY_TASK_CREATE_MISSING_QUEUES = False
# A task that kills its worker comes back; the attempts counted in its row end that.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = env.number("LEAKLEDGER_TASK_SECONDS", 540, minimum=1)
CELERY_TASK_TIME_LIMIT = CELERY_TASK_SOFT_TIME_LIMIT + 60
LEAKLEDGER_LEASE_SECONDS = env.number("LEAKLEDGER_LEASE_SECONDS", 60, minimum=1)
LEAKLEDGER_LOOK_SECONDS = env.number("LEAKLEDGER_LOOK_SECONDS", 30, minimum=1)
LEAKLEDGER_SILENT_SECONDS = env.number("LEAKLEDGER_SILENT_SECONDS", 300, minimum=1)
LEAKLEDGER_RETRY_SECONDS = env.number("LEAKLEDGER_RETRY_SECONDS", 5, minimum=1)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# On the file-system broker an order to a dead worker stays as a file, and its successor obeys it.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = REDIS is not None
CELERY_BROKER_URL = REDIS.celery if REDIS else "filesystem://localhost//"
if not REDIS:
    CELERY_BROKER_TRANSPORT = "workers.fsbroker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = queue_folders(LEAKLEDGER_VAR / "broker")

# --- Telling people --------------------------------------------------------------------------------------------------

LEAKLEDGER_URL = env.site("LEAKLEDGER_URL")
MAIL = env.mail("EMAIL_URL")
EMAIL_BACKEND, EMAIL_HOST, EMAIL_PORT = MAIL.backend, MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.use_tls, MAIL.use_ssl
EMAIL_TIMEOUT = 15
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "leakledger@localhost")
LEAKLEDGER_PRIVATE_HOSTS = env.words("LEAKLEDGER_PRIVATE_HOSTS")
LEAKLEDGER_NOTICE_PAUSE_SECONDS = env.number("LEAKLEDGER_NOTICE_PAUSE_SECONDS", 20)
LEAKLEDGER_GITHUB_TOKEN = env.text("LEAKLEDGER_GITHUB_TOKEN")
LEAKLEDGER_GITLAB_TOKEN = env.text("LEAKLEDGER_GITLAB_TOKEN")

LOGGING = env.log_lines("LOG_LEVEL")
