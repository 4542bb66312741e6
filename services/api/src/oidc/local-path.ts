/** Returns the path of a page of this installation, with its query and fragment; `/` for the address of another one. */
export function localPath(text: string, publicUrl: string): string {
  if (!text.startsWith('/') || !URL.canParse(text, publicUrl)) return '/'
  const { origin, pathname, search, hash } = new URL(text, publicUrl)
  // A path such as `/.//other.example` parses into a path with two slashes at its start: another host.
  const path = `/${pathname.replace(/^[/\\]+/, '')}`
  return origin === new URL(publicUrl).origin ? `${path}${search}${hash}` : '/'
}
