/**
 * A target that a test can be sent to. `npm start` runs a receiver on the port after its own; elsewhere nobody but the
 * user knows one.
 */
export function suggestedTarget({ hostname, port }: { hostname: string; port: string }): string {
  const isWorkbench = (hostname === 'localhost' || hostname === '127.0.0.1') && port !== ''
  return isWorkbench ? `http://127.0.0.1:${Number(port) + 1}/hello` : ''
}
