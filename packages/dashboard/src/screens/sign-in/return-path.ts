/** Where to go after signing in: an address of ours, whatever the link says. */
export function returnPath(text: string | null): string {
  return text !== null && /^\/(?![/\\])/.test(text) && !/^\/(sign-in|register)\b/.test(text) ? text : '/'
}
