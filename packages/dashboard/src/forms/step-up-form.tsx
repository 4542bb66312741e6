import type { ReactNode } from 'react'
import { confirmIdentity, type FactorKind, passkeyForConfirmation } from '../api/account.ts'
import { FactorForm } from './factor-form.tsx'

/** The fields of the dialog that confirms the identity. */
export function StepUpForm({ factors, onDone }: { factors: readonly FactorKind[]; onDone(): void }): ReactNode {
  return (
    <FactorForm
      factors={factors}
      action="Confirm"
      readPasskey={passkeyForConfirmation}
      submit={confirmIdentity}
      onDone={onDone}
    />
  )
}
