import type { AddedFactor } from '@belfry/contract/second-factor'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { encode } from 'uqr'
import {
  addPasskey,
  confirmTotp,
  createRecoveryCodes,
  factorsQuery,
  removePasskey,
  removeTotp,
  startTotp,
} from '../../api/account.ts'
import { messageOf } from '../../api/api-problem.ts'
import { Form } from '../../forms/form.tsx'
import { useChange } from '../../forms/use-change.ts'
import { useForm } from '../../forms/use-form.ts'
import { ConfirmButton } from '../../layout/row-buttons.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './profile.module.css'

type Factor = { id: string; name: string; created_at: string; isApp: boolean }

/** The second factors of the user, which the user adds and removes. */
export function SecondFactorList(): ReactNode {
  const { data } = useQuery(factorsQuery)
  const client = useQueryClient()
  const [dialog, setDialog] = useState<'passkey' | 'app' | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const renew = useChange({ run: () => createRecoveryCodes(), onDone: made => setCodes(made.recovery_codes) })
  const onAdded = async ({ recovery_codes }: AddedFactor) => {
    setDialog(null)
    setCodes(recovery_codes)
    // Organizations that were refused open now. The secret of the app must not be made again.
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'totp-secret' })
  }
  const factors: Factor[] = [
    ...(data?.passkeys ?? []).map(passkey => ({ ...passkey, isApp: false })),
    ...(data?.totp ? [{ ...data.totp, id: 'app', name: 'Authenticator app', isApp: true }] : []),
  ]
  return (
    <section className={styles.part}>
      <h2>Second factors</h2>
      {factors.length > 0 && (
        <Table
          label="Second factors"
          rows={factors}
          rowKey={({ id }) => id}
          columns={[
            { id: 'name', header: 'Name', cell: ({ name }) => name },
            { id: 'added', header: 'Added', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
          ]}
          actions={({ id, name, isApp }) => (
            <ConfirmButton
              label={`Remove ${name}`}
              icon={<Trash2 size={16} />}
              description="You can no longer sign in with it. With the last factor the recovery codes end too."
              action="Remove"
              run={() => (isApp ? removeTotp() : removePasskey(id))}
              affects={[['factors']]}
              done={`${name} removed`}
            />
          )}
        />
      )}
      {factors.length > 0 && <p className={styles.address}>{data?.recovery_codes_left} recovery codes left.</p>}
      <div className={styles.buttons}>
        <Button onClick={() => setDialog('passkey')}>Add passkey</Button>
        {data && !data.totp && <Button onClick={() => setDialog('app')}>Add authenticator app</Button>}
        {factors.length > 0 && (
          <Button isPending={renew.isPending} onClick={() => renew.mutate()}>
            New recovery codes
          </Button>
        )}
      </div>
      <Dialog
        isOpen={dialog === 'passkey'}
        onClose={() => setDialog(null)}
        title="Add a passkey"
        description="A fingerprint, a face, a PIN or a security key signs you in."
      >
        <PasskeyForm onDone={onAdded} />
      </Dialog>
      <Dialog
        isOpen={dialog === 'app'}
        onClose={() => setDialog(null)}
        title="Add an authenticator app"
        description="Scan the code with the app, then enter the six digits that it shows."
      >
        <AppForm onDone={onAdded} />
      </Dialog>
      <Dialog
        isOpen={codes !== null}
        onClose={() => setCodes(null)}
        title="Save your recovery codes"
        description="Each works once if you lose your second factors. They are shown only now."
      >
        <CodeBlock text={(codes ?? []).join('\n')} label="recovery codes" />
      </Dialog>
    </section>
  )
}

function PasskeyForm({ onDone }: { onDone(added: AddedFactor): unknown }): ReactNode {
  const form = useForm({
    read: field => ({ name: field('name').trim() }),
    check: body => ({ ...(body.name === '' ? { name: 'Enter a name.' } : {}) }),
    submit: ({ name }) => addPasskey(name),
    onDone,
  })
  return (
    <Form form={form} action="Add passkey">
      <Field label="Name" hint="Such as the device that has it." error={form.errors.name}>
        <TextInput name="name" autoFocus />
      </Field>
    </Form>
  )
}

function AppForm({ onDone }: { onDone(added: AddedFactor): unknown }): ReactNode {
  const secret = useQuery({
    queryKey: ['totp-secret'],
    queryFn: startTotp,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const form = useForm({
    read: field => ({ code: field('code').trim() }),
    check: body => ({ ...(body.code === '' ? { code: 'Enter the code.' } : {}) }),
    submit: confirmTotp,
    onDone,
  })
  if (secret.error) return <p role="alert">{messageOf(secret.error)}</p>
  if (!secret.data) return null
  return (
    <Form form={form} action="Add authenticator app">
      <QrCode text={secret.data.uri} />
      <CodeBlock text={secret.data.secret} label="secret" />
      <Field label="Code" error={form.errors.code}>
        <TextInput name="code" inputMode="numeric" autoComplete="one-time-code" />
      </Field>
    </Form>
  )
}

// Dark on light in every theme: some cameras read nothing else.
function QrCode({ text }: { text: string }): ReactNode {
  const { size, data } = useMemo(() => encode(text, { border: 2 }), [text])
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg className={styles.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the secret">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
