/**
 * Returns the request body of a payload: its exact JSON text. Only a JSON string with a `Content-Type` other than JSON is
 * sent as its raw text.
 * @param payload - JSON text.
 * @param headers - The task's own headers.
 */
export function requestBody(payload: string, headers: Readonly<Record<string, string>>): string {
  const contentType = contentTypeOf(headers)
  if (contentType === undefined || /[/+]json\b/i.test(contentType) || !payload.startsWith('"')) return payload
  return JSON.parse(payload) as string // a JSON text that starts with a quote is a string
}

/** Returns whether a raw text is the body of a form, in which values are percent-encoded. */
export function isForm(headers: Readonly<Record<string, string>>): boolean {
  return /^\s*application\/x-www-form-urlencoded\b/i.test(contentTypeOf(headers) ?? '')
}

function contentTypeOf(headers: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
}
