import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { resendConfirmation } from '../../api/session.ts'
import { useChange } from '../../forms/use-change.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { Button } from '../../ui/button.tsx'
import { Stack } from '../../ui/card.tsx'

/** Asks a new user to open the link in the confirmation email. */
export function ConfirmFirst({ email }: { email: string }): ReactNode {
  const client = useQueryClient()
  const resend = useChange({ run: () => resendConfirmation(), done: () => 'Email sent.' })
  return (
    <PlainLayout
      title="Confirm your email address"
      description={`We sent a link to ${email}. Open it to create your organization.`}
    >
      <Stack>
        <Button kind="primary" isWide onClick={() => void client.invalidateQueries({ queryKey: ['me'] })}>
          Continue
        </Button>
        <Button isWide isPending={resend.isPending} onClick={() => resend.mutate()}>
          Send another email
        </Button>
      </Stack>
    </PlainLayout>
  )
}
