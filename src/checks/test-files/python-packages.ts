// The most used packages, by import name.
const KNOWN = `
  aiohttp airflow alembic altair anthropic anyio apscheduler arrow asyncpg attr attrs babel bcrypt bleach bokeh boto boto3
  botocore bs4 cachetools celery certifi cffi chardet click cloudpickle colorama confluent_kafka coverage cryptography cv2
  dash dask dateutil decorator django dns docker docutils dotenv elasticsearch execnet fabric factory faker fastapi filelock
  flask freezegun fsspec gevent git google graphene greenlet grpc gunicorn h5py httplib2 httpx hypothesis idna importlib_metadata
  IPython isort jinja2 jmespath joblib jose jsonschema jwt kafka keras kombu kubernetes langchain lightgbm locust loguru lxml
  mako markdown markupsafe marshmallow matplotlib mock mongoengine moto motor msgpack multidict mypy mysql mysqlclient nltk
  numba numpy oauthlib openai openpyxl orjson packaging pandas paramiko passlib peewee pendulum pika PIL pkg_resources plotly
  pluggy polars prometheus_client psutil psycopg psycopg2 pyarrow pydantic pygments pymongo pymysql pyparsing pyspark pytest
  pytest_asyncio pytest_mock pytz redis regex requests requests_mock respx responses rich ruamel s3fs sanic scipy scrapy seaborn
  selenium sentry_sdk setuptools shapely simplejson six sklearn sniffio snowflake soupsieve spacy sphinx sqlalchemy sqlmodel
  starlette statsmodels streamlit stripe structlog sympy tabulate tenacity tensorflow termcolor toml tomli toolz torch
  torchvision tornado tox tqdm transformers trio twilio twisted typer typing_extensions tzlocal ujson urllib3 uvicorn uvloop
  watchdog websocket websockets werkzeug wheel wrapt xgboost xlrd yaml yarl zmq
`

const NAMES: ReadonlySet<string> = new Set(KNOWN.trim().split(/\s+/))

/** Whether a module of that name is known to come from a package rather than from the project. */
export function isPythonPackage(name: string): boolean {
  return NAMES.has(name)
}
