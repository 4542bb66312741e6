/**
 * Returns the request body of a payload: its exact JSON text. Only a JSON string with a `Content-Type` other than JSON is
 * sent as its raw text.
 * @param payload - JSON text.
 * @param headers - The task's own headers.
 */
export function requestBody(payload: string, headers: Readonly<Record<string, string>>): string {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  if (contentType === undefined || /[/+]json\b/i.test(contentType) || !payload.startsWith('"')) return payload
  return JSON.parse(payload) as string // a JSON text that starts with a quote is a string
}
