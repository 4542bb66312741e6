import type { FactorKind } from '@belfry/contract/second-factor'
import type { ReactNode } from 'react'
import { call } from '../api/call.ts'
import { passkeyForConfirmation } from '../api/passkeys.ts'
import { FactorForm } from './factor-form.tsx'

/** The fields of the dialog that confirms the identity. */
export function StepUpForm({ factors, onDone }: { factors: readonly FactorKind[]; onDone(): void }): ReactNode {
  return (
    <FactorForm
      factors={factors}
      action="Confirm"
      readPasskey={passkeyForConfirmation}
      submit={proof => call('confirmIdentity', { body: proof })}
      onDone={onDone}
    />
  )
}
