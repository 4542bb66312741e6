export type Mail = {
  to: string
  subject: string
  text: string
  html: string
  /** Headers in addition to the usual ones. */
  headers?: Readonly<Record<string, string>>
}

/** How a recipient ends the alerts: the URL of a page, and the URL that mail programs call (RFC 8058). */
export type Unsubscribe = { page: string; oneClick: string }

export function unsubscribeAt(publicUrl: string, token: string): Unsubscribe {
  const base = publicUrl.replace(/\/$/, '')
  // A mail program sends only the part before the `#`. The page has the token to itself.
  return { page: `${base}/unsubscribe#${token}`, oneClick: `${base}/api/v1/integrations/unsubscribe?token=${token}` }
}

/** The content of a mail: plain paragraphs, and at most one button. */
type Content = {
  subject: string
  paragraphs: readonly string[]
  /** The button. Without a URL there is none. */
  action?: { label: string; url: string | null }
  footer: string
  /** Default: the mail has no such link. */
  unsubscribe?: Unsubscribe | null
}

/** Renders a mail as text and as HTML, without external resources. */
export function writeMail(to: string, content: Content): Mail {
  const mail = { to, subject: content.subject, text: asText(content), html: asHtml(content) }
  if (!content.unsubscribe) return mail
  const { oneClick } = content.unsubscribe
  const headers = { 'List-Unsubscribe': `<${oneClick}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
  return { ...mail, headers }
}

const unsubscribeLabel = 'Unsubscribe from all alerts'

function asText({ paragraphs, action, footer, unsubscribe }: Content): string {
  const link = action?.url ? [`${action.label}:\n${action.url}`] : []
  const end = unsubscribe ? `\n${unsubscribeLabel}: ${unsubscribe.page}` : ''
  return `${[...paragraphs, ...link, `-- \n${footer}${end}`].join('\n\n')}\n`
}

function asHtml({ subject, paragraphs, action, footer, unsubscribe }: Content): string {
  const body = paragraphs.map(text => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`).join('\n')
  const button = action?.url
    ? `<p style="margin:24px 0"><a href="${escapeHtml(action.url)}" style="${buttonStyle}">${escapeHtml(action.label)}</a></p>
<p class="soft" style="${softStyle};margin:0 0 16px;word-break:break-all">${escapeHtml(action.url)}</p>`
    : ''
  const end = unsubscribe
    ? `<br><a class="soft" href="${escapeHtml(unsubscribe.page)}" style="${softStyle}">${unsubscribeLabel}</a>`
    : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>${darkStyle}</style>
</head>
<body class="paper" style="${paperStyle};margin:0">
<div class="paper" style="${paperStyle};max-width:560px;margin:0 auto;padding:32px 24px">
<p style="margin:0 0 24px;font-weight:600">Belfry</p>
${body}
${button}
<p class="soft" style="${softStyle};margin:32px 0 0">${escapeHtml(footer)}${end}</p>
</div>
</body>
</html>
`
}

// Text and background colours are always set together, so the mail stays readable in every mail reader.
const paperStyle =
  'background:#ffffff;color:#1d2433;font:15px/1.6 system-ui,-apple-system,Segoe UI,Roboto,sans-serif;overflow-wrap:anywhere'
const softStyle = 'color:#5b6579;font-size:13px'
// `!important` overrides the inline styles. Mail readers that ignore this show the light colours.
const darkStyle = `@media (prefers-color-scheme: dark) {
.paper { background: #10141c !important; color: #e4e8f0 !important; }
.soft { color: #98a3b8 !important; }
}`
const buttonStyle =
  'display:inline-block;padding:10px 18px;border-radius:8px;background:#0b6b61;color:#ffffff;text-decoration:none;font-weight:600'

function escapeHtml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, character => names[character] ?? character)
}
