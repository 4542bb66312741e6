import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { createApiKey } from '../../api/api-keys.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import styles from './first-steps.module.css'

type CreateKeyProps = { workspaceId: string; secret: string | null; onKey(key: string): void }

/** Makes the first API key, and shows it this once. */
export function CreateKey({ workspaceId, secret, onKey }: CreateKeyProps): ReactNode {
  const client = useQueryClient()
  const refusal = useRefusal('api_key.create')
  const form = useForm({
    read: field => ({ name: field('name').trim() }),
    check: body => ({ ...(body.name === '' ? { name: 'Type in a name.' } : {}) }),
    submit: body => createApiKey(workspaceId, body),
    async onDone({ key }) {
      onKey(key)
      await client.invalidateQueries({ queryKey: ['api-keys', workspaceId] })
    },
  })
  if (refusal) return <p className={styles.hint}>{refusal} Ask an owner or admin for a key.</p>
  if (secret) {
    return (
      <>
        <p className={styles.hint}>Copy it now and keep it safe: it is shown this once.</p>
        <CodeBlock text={secret} label="API key" isWrapped />
      </>
    )
  }
  return (
    <Form form={form} action="Create the key">
      <Field label="Name of the key" hint="Says where it is used." error={form.errors.name}>
        <TextInput name="name" defaultValue="My server" />
      </Field>
    </Form>
  )
}
