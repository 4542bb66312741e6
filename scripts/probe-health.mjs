// The health check of the images: `node probe-health.mjs PORT` checks the service on the port in the variable PORT.
const port = process.env[process.argv[2]]
const { ok } = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) }).catch(() => ({
  ok: false,
}))
process.exitCode = ok ? 0 : 1
