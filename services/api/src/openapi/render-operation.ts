import { STATUS_CODES } from 'node:http'
import { resolve } from './example.ts'
import { escapeHtml, renderProse } from './html.ts'
import type { Components } from './json-schema.ts'
import type { Operation, Parameter } from './operation.ts'
import { renderJson, renderMembers, renderRow } from './render-schema.ts'

/** Renders one operation of the reference. */
export function renderOperation(method: string, path: string, operation: Operation, components: Components): string {
  return `<article id="${operation.operationId}">
<h3><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></h3>
<p class="address"><b class="method ${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code></p>
<p class="who">${whoMayCall(operation)}</p>
${renderParameters(operation.parameters, components)}
${renderBody(operation, components)}
${renderResponses(operation, components)}
</article>`
}

function whoMayCall({ security }: Operation): string {
  if (security.length === 0) return 'Public.'
  return security.some(scheme => 'apiKey' in scheme) ? 'An API key or a session.' : 'A session.'
}

function renderParameters(parameters: Parameter[], components: Components): string {
  const shown = parameters.filter(({ name }) => name !== 'X-Request-Id')
  if (shown.length === 0) return ''
  const rows = shown.map(({ name, schema, required, description, in: place }) => {
    const described = { ...schema, description: place === 'header' ? `Header. ${description ?? ''}` : description }
    return renderRow(name, described, components, required)
  })
  return `<h4>Parameters</h4>${table(rows.join(''))}`
}

function renderBody({ requestBody }: Operation, components: Components): string {
  const content = requestBody?.content['application/json']
  if (!content) return ''
  const { description } = resolve(content.schema, components)
  const about = typeof description === 'string' ? renderProse(description) : ''
  return `<h4>Body</h4>${about}${table(renderMembers(content.schema, components))}${renderJson(content.example)}`
}

function renderResponses({ responses }: Operation, components: Components): string {
  const parts = Object.entries(responses).map(([status, { description, content }]) => {
    const isGood = Number(status) < 300
    const json = content?.['application/json']
    const others = Object.keys(content ?? {}).filter(type => !/[/+]json$/.test(type))
    const body = json && isGood ? table(renderMembers(json.schema, components)) + renderJson(json.example) : ''
    const texts =
      others.length > 0 ? `<p>Also as ${others.map(type => `<code>${escapeHtml(type)}</code>`).join(', ')}.</p>` : ''
    const meaning = isGood ? '' : renderProse(description)
    return `<details><summary><b class="status s${status[0]}">${status}</b> ${STATUS_CODES[status] ?? ''}</summary>${meaning}${texts}${body}</details>`
  })
  return `<h4>Responses</h4>${parts.join('')}`
}

function table(rows: string): string {
  return rows === '' ? '' : `<div class="wide"><table>${rows}</table></div>`
}
