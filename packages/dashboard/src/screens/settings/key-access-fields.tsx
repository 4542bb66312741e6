import { type Action, keyRights } from '@belfry/domain/permissions'
import { type ReactNode, useState } from 'react'
import { useRights } from '../../session/use-rights.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { SelectField, TextareaField } from '../../ui/field.tsx'
import { formatThings } from '../../ui/format-amount.ts'
import styles from './settings.module.css'

const choices = [
  { value: 'full', label: 'Full', hint: 'Everything that an API key can do, at most with your own rights.' },
  { value: 'read', label: 'Read only', hint: 'Reads everything except signing secrets. Changes nothing.' },
  { value: 'publish', label: 'Publish only', hint: 'Creates tasks and publishes events. Reads and changes nothing.' },
  { value: 'rights', label: 'Selected rights', hint: 'Only the rights that you select.' },
] as const

type Choice = (typeof choices)[number]['value']

type KeyScope = 'full' | 'read' | 'publish' | Action

/** The fields for the rights of a new API key and the addresses that it may be used from. */
export function KeyAccessFields(): ReactNode {
  return (
    <>
      <KeyScopeFields initial="full" />
      <TextareaField
        label="Allowed addresses"
        hint="One range per line, such as 192.0.2.0/24. Leave empty to allow all addresses."
        isOptional
        name="allowed_ranges"
        rows={2}
        isMono
      />
    </>
  )
}

/** The fields for the rights of API keys. */
export function KeyScopeFields({ initial }: { initial: Choice }): ReactNode {
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
        options={choices}
      />
      {choice === 'rights' && (
        <fieldset className={styles.rights}>
          <legend>Rights</legend>
          {keyRights
            .filter(right => can(right).allowed)
            .map(right => (
              <Checkbox key={right} name={`right ${right}`} label={<code>{right}</code>} />
            ))}
        </fieldset>
      )}
    </>
  )
}

export function readAccess(field: (name: string) => string): {
  scopes: KeyScope[]
  allowed_ranges: string[]
} {
  const ranges = field('allowed_ranges')
  return { scopes: readScopes(field), allowed_ranges: ranges.split(/[\s,]+/).filter(Boolean) }
}

export function readScopes(field: (name: string) => string): KeyScope[] {
  const choice = field('scopes') as Choice // the options above
  return choice === 'rights' ? keyRights.filter(right => field(`right ${right}`) === 'on') : [choice]
}

const groups: Record<string, string> = { full: 'Full', read: 'Read only', publish: 'Publish only' }

/** Returns a short text for the scopes of API keys. */
export function scopeText(scopes: readonly string[]): string {
  const singles = scopes.filter(scope => !(scope in groups)).length
  const names = scopes.flatMap(scope => groups[scope] ?? [])
  return [...names, ...(singles > 0 ? [formatThings(singles, 'right')] : [])].join(', ')
}
