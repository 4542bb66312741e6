/** Saves a file. With this content type a browser never shows it. */
export function saveFile(name: string, content: BlobPart): void {
  const address = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }))
  Object.assign(document.createElement('a'), { href: address, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
