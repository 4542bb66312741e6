import { type ReactNode, useEffect, useState } from 'react'
import { useBlocker } from 'react-router'
import { createApiKey } from '../../api/api-keys.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { SaveKey } from '../../layout/save-key.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import styles from './first-steps.module.css'

type CreateKeyProps = { workspaceId: string; secret: string | null; active: number; onKey(key: string): void }

/** Creates the first API key and shows it once. */
export function CreateKey({ workspaceId, secret, active, onKey }: CreateKeyProps): ReactNode {
  const refusal = useRefusal('api_key.create')
  const { workspace } = useWorkspace()
  const [isAdding, setIsAdding] = useState(false)
  const [isSaved, setIsSaved] = useState(false)
  const form = useForm({
    read: field => ({ name: field('name').trim() }),
    check: body => ({ ...(body.name === '' ? { name: 'Enter a name.' } : {}) }),
    submit: body => createApiKey(workspaceId, body),
    onDone: ({ key }) => onKey(key),
    affects: [['api-keys', workspaceId]],
  })
  if (refusal) return <p className={styles.hint}>{refusal} Ask an owner or admin for a key.</p>
  if (secret) {
    return (
      <>
        <p className={styles.hint}>Copy the key now and store it safely. You can see it only this once.</p>
        <CodeBlock text={secret} label="API key" isWrapped onCopied={() => setIsSaved(true)} />
        <SaveKey apiKey={secret} onSaved={() => setIsSaved(true)} />
        {!isSaved && <LeaveGuard />}
      </>
    )
  }
  if (active > 0 && !isAdding) {
    return (
      <>
        <p className={styles.hint}>
          {workspace.name} has {active === 1 ? 'an API key' : `${active} API keys`}.
        </p>
        <Button onClick={() => setIsAdding(true)}>Create another key</Button>
      </>
    )
  }
  return (
    <Form form={form} action="Create key">
      <Field label="Key name" hint="Where the key is used." error={form.errors.name}>
        <TextInput name="name" defaultValue="My server" />
      </Field>
    </Form>
  )
}

/** Asks before the user leaves the page. */
function LeaveGuard(): ReactNode {
  const blocker = useBlocker(({ currentLocation, nextLocation }) => currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  return (
    <ConfirmDialog
      isOpen={blocker.state === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without the key?"
      description="You have not copied or downloaded it, and it is not shown again. You can create another key at any time."
      action="Leave"
      onConfirm={() => blocker.proceed?.()}
    />
  )
}
