import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Invitations(): ReactNode {
  return <PageHeader title="Invitations" />
}
