import type { AddedFactor } from '@belfry/contract/second-factor'
import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { encode } from 'uqr'
import { messageOf } from '../../api/api-problem.ts'
import { call } from '../../api/call.ts'
import { addPasskey } from '../../api/passkeys.ts'
import { queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { ChangeButton, ConfirmButton, DialogButton } from '../../layout/change-buttons.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './profile.module.css'

export function SecondFactorList() {
  const { data } = useQuery(queryOf('listFactors'))
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const onAdded = ({ recovery_codes }: AddedFactor) => setCodes(recovery_codes)
  const factors = [
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
          columns={[
            { header: 'Name', cell: ({ name }) => name },
            { header: 'Added', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
          ]}
          actions={({ id, name, isApp }) => (
            <ConfirmButton
              label={`Remove ${name}`}
              icon={<Trash2 size={16} />}
              description="You can no longer sign in with it. Removing your last factor also removes your recovery codes."
              action="Remove"
              run={() => (isApp ? call('removeTotp') : call('removePasskey', { passkey: id }))}
              done={`${name} removed`}
            />
          )}
        />
      )}
      {factors.length > 0 && <p className={styles.address}>{data?.recovery_codes_left} recovery codes left.</p>}
      <div className={styles.buttons}>
        <DialogButton
          text="Add passkey"
          title="Add a passkey"
          description="A fingerprint, a face, a PIN or a security key signs you in."
        >
          <Form
            read={field => ({ name: field('name').trim() })}
            check={body => ({ name: body.name === '' && 'Enter a name.' })}
            submit={({ name }) => addPasskey(name)}
            onDone={onAdded}
            action="Add passkey"
          >
            <TextField label="Name" hint="Such as the device that has it." name="name" autoFocus />
          </Form>
        </DialogButton>
        {data && !data.totp && (
          <DialogButton
            text="Add authenticator app"
            title="Add an authenticator app"
            description="Scan the code with the app, then enter the six digits that it shows."
          >
            <AppForm onDone={onAdded} />
          </DialogButton>
        )}
        {factors.length > 0 && (
          <ChangeButton
            text="New recovery codes"
            run={() => call('createRecoveryCodes')}
            onDone={made => setCodes(made.recovery_codes)}
          />
        )}
      </div>
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

function AppForm({ onDone }: { onDone(added: AddedFactor): unknown }) {
  const secret = useQuery({
    ...queryOf('startTotp'),
    staleTime: 'static', // a new one would replace it
    gcTime: 0,
  })
  if (secret.error) return <p role="alert">{messageOf(secret.error)}</p>
  if (!secret.data) return null
  return (
    <Form
      read={field => ({ code: field('code').trim() })}
      check={body => ({ code: body.code === '' && 'Enter the code.' })}
      submit={body => call('confirmTotp', { body })}
      onDone={onDone}
      action="Add authenticator app"
    >
      <QrCode text={secret.data.uri} />
      <CodeBlock text={secret.data.secret} label="secret" />
      <TextField label="Code" name="code" inputMode="numeric" autoComplete="one-time-code" autoFocus />
    </Form>
  )
}

// Dark on light in every theme, because some cameras cannot read inverted codes.
function QrCode({ text }: { text: string }) {
  const { size, data } = useMemo(() => encode(text, { border: 2 }), [text])
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg className={styles.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the secret">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
