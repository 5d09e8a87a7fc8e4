// Variables that name registries, proxies and certificates. None of them contains credentials.
const PASSED =
  /^(?:https?_proxy|no_proxy|all_proxy|node_extra_ca_certs|ssl_cert_(?:file|dir)|(?:curl|requests)_ca_bundle|npm_config_(?:registry|cafile)|pip_(?:cert|index_url|extra_index_url|find_links)|uv_(?:default_index|index_url)|goproxy|gosumdb|gonosumdb|goprivate|cargo_http_cainfo|yarn_npm_registry_server)$/i
const WITH_CREDENTIALS = /:\/\/[^\s/@]*@|\/\/[^\s/@]*:[^\s/@]*@/

/** The server's variables that an install gets in addition to a clean environment. */
export function pickInstallVariables(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && PASSED.test(name) && !WITH_CREDENTIALS.test(value) ? [[name, value] as const] : [],
    ),
  )
}
