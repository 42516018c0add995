/** Files of settings for those that take one: no more than passing everything on to one engine needs. */

/** One worker; nothing buffered, as streams need it; connections kept on both sides. */
export function nginxSettings(port: number, upstream: string, home: string): string {
  const root = process.getuid?.() === 0 ? 'user root;\n' : '';
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${home}/${name};\n`)
    .join('');
  return `${root}daemon off;
worker_processes 1;
pid ${home}/nginx.pid;
events { worker_connections 16384; }
http {
  access_log off;
${folders}  upstream engine {
    server ${new URL(upstream).host};
    keepalive 512;
    keepalive_requests 1000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    keepalive_requests 1000000;
    client_max_body_size 64m;
    client_body_buffer_size 64k;
    location / {
      proxy_pass http://engine;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 3600s;
    }
  }
}
`;
}

const MOST = 1_000_000;

/** A listener, a route to everything, a cluster of one; limits that a bench would meet are moved away. */
export function envoySettings(port: number, upstream: string): string {
  const { hostname, port: upstreamPort } = new URL(upstream);
  const address = (host: string, number: number | string): string =>
    `{ socket_address: { address: ${host}, port_value: ${number} } }`;
  return `static_resources:
  listeners:
    - address: ${address('127.0.0.1', port)}
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: bench
                stream_idle_timeout: 0s
                route_config:
                  virtual_hosts:
                    - name: all
                      domains: ["*"]
                      routes:
                        - match: { prefix: / }
                          route: { cluster: engine, timeout: 0s }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
    - name: engine
      type: STATIC
      circuit_breakers:
        thresholds:
          - { max_connections: ${MOST}, max_pending_requests: ${MOST}, max_requests: ${MOST} }
      load_assignment:
        cluster_name: engine
        endpoints:
          - lb_endpoints:
              - endpoint: { address: ${address(hostname, upstreamPort)} }
`;
}

/** One model, passed on as to any OpenAI-compatible server. */
export function liteLlmSettings(upstream: string): string {
  return `model_list:
  - model_name: m
    litellm_params:
      model: openai/m
      api_base: ${upstream}/v1
      api_key: none
`;
}
