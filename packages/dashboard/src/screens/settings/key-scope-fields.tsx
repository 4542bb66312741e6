import { type Action, keyRights } from '@belfry/domain/permissions'
import { useState } from 'react'
import { useRights } from '../../session/scope.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { SelectField } from '../../ui/field.tsx'
import { formatThings } from '../../ui/format-amount.ts'
import { wordsOf } from '../../ui/words-of.ts'
import styles from './settings.module.css'

const choices = [
  { value: 'full', label: 'Full', hint: 'Everything that an API key can do, at most with your own rights.' },
  { value: 'read', label: 'Read only', hint: 'Reads everything except signing secrets. Changes nothing.' },
  { value: 'publish', label: 'Publish only', hint: 'Creates tasks and publishes events. Reads and changes nothing.' },
  { value: 'rights', label: 'Selected rights', hint: 'Only the rights that you select.' },
] as const

type Choice = (typeof choices)[number]['value']

export function KeyScopeFields({ initial }: { initial: Choice }) {
  const [choice, setChoice] = useState<Choice>(initial)
  const { can } = useRights()
  return (
    <>
      <SelectField
        label="Access"
        hint={choices.find(({ value }) => value === choice)?.hint}
        name="scopes"
        value={choice}
        onChange={event => setChoice(event.target.value as Choice)}
        options={choices.map(({ value, label }) => ({ value, label }))}
      />
      {choice === 'rights' && (
        <div className={styles.rights}>
          {groupRights(keyRights.filter(right => can(right).allowed)).map(([group, rights]) => (
            <fieldset key={group}>
              <legend>{group}</legend>
              {rights.map(right => (
                <Checkbox key={right} name={`right ${right}`} label={labelOfRight(right)} />
              ))}
            </fieldset>
          ))}
        </div>
      )}
    </>
  )
}

export function readScopes(field: (name: string) => string) {
  const choice = field('scopes') as Choice // the options above
  return choice === 'rights' ? keyRights.filter(right => field(`right ${right}`) === 'on') : [choice]
}

export function scopeText(scopes: readonly string[]): string {
  const names = scopes.flatMap(scope => choices.find(({ value }) => value === scope)?.label ?? [])
  const singles = scopes.length - names.length
  return [...names, ...(singles > 0 ? [formatThings(singles, 'right')] : [])].join(', ')
}

/** Groups rights by their object, under its name in the plural, in alphabetical order. */
export function groupRights(rights: readonly Action[]): Array<[string, Action[]]> {
  const groups = new Map<string, Action[]>()
  for (const right of rights) {
    const name = `${wordsOf(right.split('.')[0] ?? '')}s`
    groups.set(name, [...(groups.get(name) ?? []), right])
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b))
}

/** Returns what a right allows with the objects of its group. */
export function labelOfRight(right: Action): string {
  const [, verb = ''] = right.split('.')
  return labels[right] ?? (verb === 'write' ? 'Create and change' : wordsOf(verb))
}

// What the name of the right does not tell.
const labels: Partial<Record<Action, string>> = {
  'task.write': 'Create, change and replay',
  'secret.use': 'Use for any host',
  'host.write': 'Pause and resume',
  'host.reset': 'Close circuit breakers',
}
