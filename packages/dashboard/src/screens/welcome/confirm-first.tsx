import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { resendConfirmation } from '../../api/session.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { Button } from '../../ui/button.tsx'
import { Stack } from '../../ui/card.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useToast } from '../../ui/toast.tsx'

/** Asks a new user to open the link in the confirmation email. */
export function ConfirmFirst({ email }: { email: string }): ReactNode {
  const client = useQueryClient()
  const toast = useToast()
  const resend = useMutation({ mutationFn: resendConfirmation, onSuccess: () => toast('Email sent.') })
  return (
    <PlainLayout
      title="Confirm your email address"
      description={`We sent a link to ${email}. Open it to create your organization.`}
    >
      <Stack>
        {resend.error && <Problem error={resend.error} />}
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
