import { stringifyJson } from '@belfry/client'
import { type Output, printable } from '../output/output.ts'
import { kinds } from './kinds.ts'
import type { Change, Live, Plan } from './plan.ts'

const signs = {
  create: { sign: '+', colour: 'green', verb: 'create' },
  update: { sign: '~', colour: 'yellow', verb: 'change' },
  replace: { sign: '±', colour: 'yellow', verb: 'replace' },
  delete: { sign: '-', colour: 'red', verb: 'delete' },
} as const

/** Returns the lines that show a change on a terminal. */
export function describeChange(change: Change, paint: Output['paint']): string {
  const { sign, colour } = signs[change.action]
  const title = paint(`${sign} ${nameOf(change)}`, colour)
  if (change.action === 'create' || change.action === 'delete') return title
  const notes = [
    ...(change.action === 'replace' ? ['    is deleted and created again, with another id'] : []),
    ...(change.action === 'update' && change.isAdopted ? [`    is taken over (${change.live.id})`] : []),
  ]
  const fields = change.differences.map(
    ({ field, before, after }) => `    ${field}: ${valueText(before)} → ${valueText(after)}`,
  )
  return [title, ...notes, ...fields].join('\n')
}

export function changeToJson(change: Change): object {
  const { action } = change
  if (action === 'delete') return { action, kind: change.live.kind, key: change.live.key, id: change.live.id }
  const { kind, key } = change.declared
  if (action === 'create') return { action, kind, key }
  return { action, kind, key, id: change.live.id, differences: change.differences }
}

/** Returns one sentence for what changes or has changed, and what does not. */
export function summarize({ changes, unchanged }: Plan, isDone: boolean): string {
  const counts = Object.entries(signs).flatMap(([action, { verb }]) => {
    const n = changes.filter(change => change.action === action).length
    return n === 0 ? [] : [isDone ? `${n} ${verb.replace(/e?$/, 'ed')}` : `${n} to ${verb}`]
  })
  return counts.length === 0 ? `No changes; ${unchanged} up to date.` : `${counts.join(', ')}, ${unchanged} up to date.`
}

export function warningsOf({ left, lookalikes }: Plan): string[] {
  const named = ({ kind, key, id }: Live) => `${kinds[kind].noun} ${key ?? id}`
  return [
    ...left.map(one => `The file has no ${named(one)}. Delete it with --prune.`),
    ...lookalikes.map(
      ({ declared, live }) =>
        `${kinds[declared.kind].noun} ${declared.name} looks like ${live.id}, which no file owns. Take it over with --adopt.`,
    ),
  ]
}

function nameOf(change: Change): string {
  if (change.action !== 'delete') return `${kinds[change.declared.kind].noun} ${change.declared.name}`
  const { kind, key, id } = change.live
  return `${kinds[kind].noun} ${key?.slice(key.indexOf('/') + 1) ?? id}`
}

const maxShown = 100

function valueText(value: unknown): string {
  const text = printable(stringifyJson(value))
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}
