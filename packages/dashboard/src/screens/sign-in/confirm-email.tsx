import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { confirmEmail } from '../../api/account.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { Link } from '../../ui/button.tsx'
import { useToast } from '../../ui/toast.tsx'

/** Confirms an email address with a button, because mail scanners open every link. */
export function ConfirmEmail(): ReactNode {
  const token = useLocation().hash.slice(1)
  const navigate = useNavigate()
  const client = useQueryClient()
  const toast = useToast()
  const form = useForm({
    read: () => ({ token }),
    submit: confirmEmail,
    async onDone() {
      toast('Email address confirmed.')
      client.removeQueries({ queryKey: ['me'] })
      await navigate('/', { replace: true })
    },
  })
  return (
    <PlainLayout title="Confirm your email address" foot={<Link to="/">Go to dashboard</Link>}>
      <Form form={form} action="Confirm" isWide />
    </PlainLayout>
  )
}
