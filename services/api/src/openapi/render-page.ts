import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Operation, Parameter } from '@belfry/contract/openapi/describe-operation'
import { type OpenApiDocument, sectionsOf } from '@belfry/contract/openapi/document'
import { resolve } from '@belfry/contract/openapi/example'
import type { Components, JsonSchema } from '@belfry/contract/openapi/json-schema'
import { pageStyle } from './page-style.ts'

const styleHash = createHash('sha256').update(pageStyle).digest('base64')

/** Headers of these pages. They restrict a browser to loading their style. */
export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
}

export function renderPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${pageStyle}</style>
</head>
<body>${content}</body>
</html>`
}

/** Renders the reference of the whole API as one page without scripts. */
export function renderReference(document: OpenApiDocument): string {
  const sections = sectionsOf(document).map(({ tag, title, operations }) => {
    const articles = operations.map(({ method, path, operation }) =>
      renderOperation(method, path, operation, document.components.schemas),
    )
    return {
      links: `<h2><a href="#tag-${tag}">${title}</a></h2><ul>${operations.map(toLink).join('')}</ul>`,
      content: `<section id="tag-${tag}"><h2>${title}</h2>${articles.join('')}</section>`,
    }
  })
  const { info } = document
  return renderPage(
    `${info.title} reference`,
    `<header><h1>${escapeHtml(info.title)} <small>${escapeHtml(info.version)}</small></h1>
<p><a href="/api/openapi.json">OpenAPI 3.1</a></p></header>
<div class="page"><nav aria-label="Operations">${sections.map(({ links }) => links).join('')}</nav>
<main>${renderProse(info.description)}${sections.map(({ content }) => content).join('')}</main></div>`,
  )
}

function toLink({ method, operation }: { method: string; operation: Operation }): string {
  return `<li><a href="#${operation.operationId}"><b class="method ${method}">${method.toUpperCase()}</b> ${escapeHtml(operation.summary)}</a></li>`
}

function renderOperation(method: string, path: string, operation: Operation, components: Components): string {
  return `<article id="${operation.operationId}">
<h3><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></h3>
<p class="address"><b class="method ${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code></p>
<p class="who">${whoMayCall(operation)}</p>
${operation.description ? renderProse(operation.description) : ''}
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
    const others = Object.entries(content ?? {}).filter(([type]) => !/[/+]json$/.test(type))
    const body = json && isGood ? table(renderMembers(json.schema, components)) + renderJson(json.example) : ''
    const names = others.map(([type]) => `<code>${escapeHtml(type)}</code>`).join(', ')
    const texts = names && `<p>${json ? 'Also as' : 'As'} ${names}.</p>`
    const examples = others.flatMap(([, { example }]) => (typeof example === 'string' ? example.trimEnd() : []))
    const text = examples.map(renderCode).join('')
    const meaning = isGood ? '' : renderProse(description)
    return `<details><summary><b class="status s${status[0]}">${status}</b> ${STATUS_CODES[status] ?? ''}</summary>${meaning}${texts}${text}${body}</details>`
  })
  return `<h4>Responses</h4>${parts.join('')}`
}

function table(rows: string): string {
  return rows === '' ? '' : `<div class="wide"><table>${rows}</table></div>`
}

/** Renders the members of an object, one row each. Members of inner objects get separate rows, with their paths. */
function renderMembers(schema: JsonSchema, components: Components, prefix = ''): string {
  const { properties = {}, required = [] } = withoutNull(schema, components)
  return Object.entries(properties as Components)
    .map(([name, member]) => {
      const isRequired = (required as string[]).includes(name)
      const inner = innerObject(member, components)
      return (
        renderRow(prefix + name, member, components, isRequired) +
        (inner ? renderMembers(inner, components, `${prefix}${name}.`) : '')
      )
    })
    .join('')
}

function renderRow(name: string, schema: JsonSchema, components: Components, isRequired: boolean): string {
  const described = { ...resolve(schema, components), ...schema }
  const mark = isRequired ? '<b title="required">*</b>' : ''
  const meaning = typeof described.description === 'string' ? renderProse(described.description) : ''
  return `<tr><th scope="row"><code>${escapeHtml(name)}</code>${mark}</th><td>${escapeHtml(typeOf(schema, components))}</td><td>${meaning}</td></tr>`
}

function renderJson(value: unknown): string {
  return renderCode(JSON.stringify(value, null, 2))
}

function renderCode(text: string): string {
  return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`
}

function typeOf(schema: JsonSchema, components: Components): string {
  const options = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (options) return [...new Set(options.map(option => typeOf(option, components)))].join(' or ')
  const { type, items, format, enum: words, ...rest } = resolve(schema, components)
  if (Array.isArray(words)) return words.join(' | ')
  if (type === 'array') return `list of ${typeOf((items ?? {}) as JsonSchema, components)}`
  const word = format === 'date-time' ? 'timestamp' : (type ?? 'any JSON')
  return `${word}${limitsOf(rest)}`
}

function limitsOf({ minimum, maximum, minLength, maxLength, default: value }: JsonSchema): string {
  const low = minimum ?? minLength
  const high = maximum ?? maxLength
  const unit = maxLength === undefined ? '' : ' characters'
  const isBounded = high !== undefined && Math.abs(Number(high)) < Number.MAX_SAFE_INTEGER
  const range = isBounded ? `, ${low ?? 0} to ${high}${unit}` : ''
  return value === undefined || typeof value === 'object' ? range : `${range}, default ${value}`
}

function innerObject(schema: JsonSchema, components: Components): JsonSchema | undefined {
  const bare = withoutNull(schema, components)
  const item = bare.type === 'array' ? withoutNull((bare.items ?? {}) as JsonSchema, components) : bare
  return item.properties ? item : undefined
}

// Returns the schema that a reference points to; of an object or null, the object.
function withoutNull(schema: JsonSchema, components: Components): JsonSchema {
  const resolved = resolve(schema, components)
  const option = ((resolved.anyOf ?? []) as JsonSchema[]).find(({ type }) => type !== 'null')
  return option ? resolve(option, components) : resolved
}

/** Escapes a text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** Renders text in which `…` is code, a line that begins with "- " an item, and an empty line a new paragraph. */
export function renderProse(text: string): string {
  return text
    .split(/\n\n|\n(?=- )/)
    .map(block => `<p>${escapeHtml(block.replace(/^- /, '')).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('')
}
