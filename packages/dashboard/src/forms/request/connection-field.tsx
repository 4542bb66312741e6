import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { allOf } from '../../api/queries.ts'
import { useWorkspace } from '../../session/scope.ts'
import { SelectField } from '../../ui/field.tsx'

type ConnectionFieldProps = {
  /** The name of the connection; empty for none. */
  value: string
  onChange(name: string): void
}

/** Selects the connection that authenticates the calls. */
export function ConnectionField({ value, onChange }: ConnectionFieldProps): ReactNode {
  const { workspace } = useWorkspace()
  const { data = [] } = useQuery(allOf('listConnections', { ws: workspace.id }))
  // A connection that was deleted stays selected until the user chooses another one.
  const names = new Set([...(value === '' ? [] : [value]), ...data.map(({ name }) => name)])
  return (
    <SelectField
      label="Connection"
      isOptional
      hint="Authenticates the calls. Create connections in the settings."
      name="connection"
      value={value}
      onChange={event => onChange(event.target.value)}
      options={[{ value: '', label: 'None' }, ...names]}
    />
  )
}
