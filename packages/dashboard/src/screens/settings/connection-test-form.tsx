import type { Connection, ConnectionTest } from '@belfry/contract/connection'
import { type ReactNode, useState } from 'react'
import { testConnection } from '../../api/connections.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'

type ConnectionTestFormProps = { connection: Connection; onClose(): void }

/** Requests a token of a connection, or calls a URL through it, and shows what happened. */
export function ConnectionTestForm({ connection, onClose }: ConnectionTestFormProps): ReactNode {
  const { workspace } = useWorkspace()
  const [outcome, setOutcome] = useState<ConnectionTest | null>(null)
  const hasToken = connection.kind === 'oauth2' || connection.kind === 'identity_token'
  const form = useForm({
    read: field => ({ url: field('url').trim() }),
    check: ({ url }) => (url === '' && !hasToken ? { url: 'Enter a URL of one of its hosts.' } : {}),
    submit({ url }) {
      setOutcome(null)
      return testConnection(workspace.id, connection.name, url === '' ? {} : { url })
    },
    onDone: setOutcome,
  })
  return (
    <Form form={form} action="Test" more={<Button onClick={onClose}>Close</Button>}>
      <Field
        label="URL"
        isOptional={hasToken}
        error={form.errors.url}
        hint={`Called with GET.${hasToken ? ' Leave empty to request a token only.' : ''}`}
      >
        <TextInput name="url" type="url" isMono autoComplete="off" placeholder={`https://${connection.hosts[0]}/`} />
      </Field>
      {outcome && (
        <p role="status">
          <Badge tone={outcome.ok ? 'good' : 'bad'}>{outcome.ok ? 'Works' : 'Failed'}</Badge> {outcome.message}
        </p>
      )}
    </Form>
  )
}
