import type { FactorKind } from '@belfry/contract/second-factor'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { Proof } from '../api/passkeys.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from './form.tsx'

type FactorFormProps<Result> = {
  factors: readonly FactorKind[]
  action: string
  /** Asks the browser for a passkey. */
  readPasskey(): Promise<Proof>
  submit(proof: Proof): Promise<Result>
  onDone(result: Result): unknown
}

const switchLabels: Record<FactorKind, string> = {
  passkey: 'Use a passkey',
  totp: 'Use an authenticator app',
  recovery_code: 'Use a recovery code',
  password: 'Use your password',
}

const fields = {
  totp: { name: 'code', label: 'Code', hint: 'From your authenticator app.', autoComplete: 'one-time-code' },
  recovery_code: { name: 'recovery_code', label: 'Recovery code', hint: 'It works once.', autoComplete: 'off' },
  password: { name: 'password', label: 'Password', hint: undefined, autoComplete: 'current-password' },
} as const

export function FactorForm<Result>(props: FactorFormProps<Result>) {
  const { factors, action, readPasskey, submit, onDone } = props
  const [kind, setKind] = useState<FactorKind>(factors[0] ?? 'password')
  const field = kind === 'passkey' ? null : fields[kind]
  const others = factors.filter(one => one !== kind)
  return (
    <Form
      key={kind}
      isSignIn
      read={read => (field ? { [field.name]: read(field.name).trim() } : {}) as Proof}
      check={proof => (field && !proof[field.name] ? { [field.name]: 'Fill in this field.' } : {})}
      submit={async proof => submit(field ? proof : await readPasskey())}
      onDone={onDone}
      staysOpen
      action={field ? action : 'Use passkey'}
      isWide
      after={others.map(one => (
        <Button key={one} kind="quiet" isWide onClick={() => setKind(one)}>
          {switchLabels[one]}
        </Button>
      ))}
    >
      {field ? (
        <TextField
          label={field.label}
          hint={field.hint}
          name={field.name}
          type={kind === 'password' ? 'password' : 'text'}
          autoComplete={field.autoComplete}
          autoFocus
          {...(kind === 'totp' ? { inputMode: 'numeric' as const } : {})}
        />
      ) : (
        <p>
          <KeyRound size={16} /> Your browser asks for your passkey.
        </p>
      )}
    </Form>
  )
}
