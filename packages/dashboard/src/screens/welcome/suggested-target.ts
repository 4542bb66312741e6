/**
 * Returns the URL of the receiver that `npm start` runs, on the port after its own. Empty if the dashboard is served
 * elsewhere.
 */
export function suggestedTarget({ hostname, port }: { hostname: string; port: string }): string {
  const isLocalStart = (hostname === 'localhost' || hostname === '127.0.0.1') && port !== ''
  return isLocalStart ? `http://127.0.0.1:${Number(port) + 1}/hello` : ''
}
