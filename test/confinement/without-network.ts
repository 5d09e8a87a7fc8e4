/** Variables of commands without network that let package managers fail at once. */
export const WITHOUT_NETWORK: readonly string[] = [
  ...['npm_config_offline', 'npm_config_fetch_retries', 'YARN_ENABLE_NETWORK', 'PIP_NO_INDEX', 'PIP_RETRIES'],
  ...['PIP_DISABLE_PIP_VERSION_CHECK', 'UV_OFFLINE', 'POETRY_REQUESTS_MAX_RETRIES', 'GOPROXY', 'CARGO_NET_OFFLINE'],
  ...['COMPOSER_DISABLE_NETWORK', 'BUNDLE_RETRY'],
]
