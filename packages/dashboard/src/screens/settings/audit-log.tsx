import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function AuditLog(): ReactNode {
  return <PageHeader title="Audit log" />
}
