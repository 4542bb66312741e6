import { camel } from '@belfry/client/case'
import type { OptionField } from '@belfry/contract/openapi/option-fields'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDuration, parseInstant, parseNumber } from '../parse-options.ts'
import { exceptions, withOwnOptions } from './exceptions.ts'

export type FieldFlags = Readonly<Record<string, unknown>>

/** Adds an option for each field of a request, except for fields that are arguments of the command. */
export function withFields(command: Command, fields: readonly OptionField[]): Command {
  const given = command.registeredArguments.map(argument => argument.name())
  for (const field of fields) {
    if (given.includes(field.path.join('.')) || withOwnOptions.includes(field.path.join('.'))) continue
    command.addOption(optionOf(field))
  }
  return command
}

/** Returns the fields whose options are given, with the names of the client. */
export function bodyOf<Body = object>(fields: readonly OptionField[], flags: FieldFlags): Body {
  const body: Record<string, unknown> = {}
  for (const field of fields) {
    const value = flags[optionOf(field).attributeName()]
    if (value === undefined) continue
    place(body, field.path.map(camel), value)
  }
  return body as Body // the fields are from its operation
}

function place(object: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) object[name] = value
  else {
    object[name] ??= {}
    place(object[name] as Record<string, unknown>, rest, value) // fields below one name are in one object
  }
}

export function optionOf(field: OptionField): Option {
  const { path, isList, words } = field
  const { flags = flagsOf(field), isRequired, parse } = exceptions[path.join('.')] ?? {}
  const option = new Option(flags, describe(field))
  if (option.isBoolean()) return option
  option.argParser<unknown>((text, before) => {
    if (isList && field.type === 'duration') return text.split(',').map(part => parseValue(field, part.trim()))
    const value = parse ? parse(text, words ?? []) : parseValue(field, text)
    return isList ? [before ?? [], value].flat() : value
  })
  if (words) option.argChoices = [...words]
  return option.makeOptionMandatory((isRequired ?? field.isRequired) === true)
}

function parseValue({ type, words, ...limits }: OptionField, text: string): unknown {
  if (words && !words.includes(text)) throw new InvalidArgumentError(`Allowed choices are ${words.join(', ')}.`)
  switch (type) {
    case 'integer':
      return parseNumber(text, limits)
    case 'duration':
      return parseDuration(text)
    case 'time':
      return parseInstant(text)
    case 'boolean':
      return text === 'true'
    default:
      return text
  }
}

// The objects around a field begin its name: `--retry-backoff`. A duration is given with its unit. A field that is
// false by default is a switch.
function flagsOf({ path, type, isList, default: preset }: OptionField): string {
  const words = path.filter((word, i) => word !== 'filter' && (word !== 'url' || i === 0))
  const name = words
    .join('_')
    .replace(/_(ms|id)$/, '')
    .replaceAll('_', '-')
  if (preset === false) return `--${name}`
  const long = isList && type === 'text' ? name.replace(/([^su])s$/, '$1') : name
  return `--${long} <${placeholders[type] ?? path.at(-1)?.replace(/^.*_/, '')}>`
}

const placeholders: Partial<Record<OptionField['type'], string>> = {
  ...{ integer: 'n', duration: 'time', time: 'time', boolean: 'true|false' },
}

function describe({ about, type, isList, min, max, default: preset }: OptionField): string {
  const show = (value: unknown) => (type === 'duration' ? showDuration(Number(value)) : String(value))
  const notes = [
    ...(min !== undefined && max !== undefined ? [`${show(min)} to ${show(max)}`] : []),
    ...(preset !== undefined && preset !== false ? [`default: ${show(preset)}`] : []),
  ]
  const repeats = isList ? (type === 'text' ? '; can be repeated' : ', such as 10s,5m') : ''
  return `${about}${repeats}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`
}

const units = Object.entries({ d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 })

function showDuration(ms: number): string {
  const [unit, length] = units.find(([, length]) => ms > 0 && ms % length === 0) ?? (ms === 0 ? ['s', 1] : ['ms', 1])
  return `${ms / length}${unit}`
}
