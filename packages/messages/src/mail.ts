/** A mail, ready to be sent. */
export type Mail = {
  to: string
  subject: string
  text: string
  html: string
}

/** The content of a mail: plain paragraphs, and at most one button. */
type Content = {
  subject: string
  paragraphs: readonly string[]
  /** The button. */
  action?: { label: string; url: string }
  /** The small print. */
  footer: string
}

/** Renders a mail as text and as HTML, without external resources. */
export function writeMail(to: string, content: Content): Mail {
  return { to, subject: content.subject, text: asText(content), html: asHtml(content) }
}

function asText({ paragraphs, action, footer }: Content): string {
  const link = action ? [`${action.label}:\n${action.url}`] : []
  return `${[...paragraphs, ...link, `-- \n${footer}`].join('\n\n')}\n`
}

function asHtml({ subject, paragraphs, action, footer }: Content): string {
  const body = paragraphs.map(text => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`).join('\n')
  const button = action
    ? `<p style="margin:24px 0"><a href="${escapeHtml(action.url)}" style="${buttonStyle}">${escapeHtml(action.label)}</a></p>
<p class="soft" style="${softStyle};margin:0 0 16px;word-break:break-all">${escapeHtml(action.url)}</p>`
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
<p class="soft" style="${softStyle};margin:32px 0 0">${escapeHtml(footer)}</p>
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
