// The images' health check: `node probe-health.mjs PORT` asks the service on the port that the variable PORT names.
const port = process.env[process.argv[2]]
const { ok } = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) }).catch(() => ({
  ok: false,
}))
process.exitCode = ok ? 0 : 1
