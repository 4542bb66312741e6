/** A `belfry.yaml` with each section. */
export const shop = `
project: shop
variables:
  BASE: https://shop.example.com
queues:
  partner-api: { max_concurrent: 3, rate_limit: { count: 100, period_ms: 60000 } }
cron_jobs:
  nightly-report:
    cron: 0 3 * * *
    timezone: Europe/Berlin
    url: \${BASE}/report
    headers: { X-Source: shop }
    payload: { kind: nightly, texts: [a, b] }
    retry: { max_retries: 5 }
    queue: partner-api
    on_failure: { url: "\${BASE}/failed" }
    labels: [reports, nightly]
  cleanup: { cron: "*/5 * * * *", url: "\${BASE}/cleanup", paused: true, ends_at: 2030-01-01T00:00:00Z }
subscriptions:
  crm: { topic: orders.*, filter: [{ path: total, op: gte, value: 100.5 }, { path: test, op: ne, value: true }], url: "\${BASE}/crm", max_age_ms: 60000, retry: { delays_ms: [0, 60000] } }
integrations:
  on-call: { channel: slack, url: "\${SLACK_URL}", events: [task.dead, cronjob.failing] }
environments:
  staging:
    variables: { BASE: https://staging.example.com }
    cron_jobs: { cleanup: null, nightly-report: { retry: { backoff: fixed } } }
`
