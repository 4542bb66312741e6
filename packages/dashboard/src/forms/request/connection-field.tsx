import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { connectionsQuery } from '../../api/workspace-settings.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Field, Select } from '../../ui/field.tsx'

type ConnectionFieldProps = {
  /** The name of the connection; empty for none. */
  value: string
  error: string | undefined
  onChange(name: string): void
}

/** Selects the connection that authenticates the calls. */
export function ConnectionField({ value, error, onChange }: ConnectionFieldProps): ReactNode {
  const { workspace } = useWorkspace()
  const { data = [] } = useQuery(connectionsQuery(workspace.id))
  // A connection that was deleted stays selected until the user chooses another one.
  const names = new Set([...(value === '' ? [] : [value]), ...data.map(({ name }) => name)])
  return (
    <Field
      label="Connection"
      isOptional
      error={error}
      hint="Authenticates the calls. Create connections in the settings."
    >
      <Select
        name="connection"
        value={value}
        onChange={event => onChange(event.target.value)}
        options={[{ value: '', label: 'None' }, ...names]}
      />
    </Field>
  )
}
