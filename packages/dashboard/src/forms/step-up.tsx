import type { FactorKind } from '@belfry/contract/second-factor'
import { useEffect, useState } from 'react'
import { askToConfirmWith, call } from '../api/call.ts'
import { passkeyForConfirmation } from '../api/passkeys.ts'
import { Dialog } from '../ui/dialog.tsx'
import { latePart } from '../ui/late-part.tsx'

const FactorForm = latePart(async () => (await import('./factor-form.tsx')).FactorForm<unknown>)

type Asked = { factors: readonly FactorKind[]; resolve(isConfirmed: boolean): void }

/** Asks the user to confirm the identity when the API refuses a call without that. */
export function StepUp() {
  const [asked, setAsked] = useState<Asked | null>(null)
  useEffect(
    () => askToConfirmWith(factors => new Promise(resolve => setAsked({ factors: factors as FactorKind[], resolve }))),
    [],
  )
  const end = (isConfirmed: boolean) => {
    asked?.resolve(isConfirmed)
    setAsked(null)
  }
  return (
    <Dialog
      isOpen={asked !== null}
      onClose={() => end(false)}
      title="Confirm it's you"
      description="Confirm your identity to continue. We won't ask again for ten minutes."
    >
      {asked && (
        <FactorForm
          factors={asked.factors}
          action="Confirm"
          readPasskey={passkeyForConfirmation}
          submit={proof => call('confirmIdentity', { body: proof })}
          onDone={() => end(true)}
        />
      )}
    </Dialog>
  )
}
