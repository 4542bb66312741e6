#!/bin/sh
# Prints a Secret for the trial, with new values: k8s/make-trial-secret.sh | kubectl create -f -
# `create` refuses to replace an existing Secret, because data that is encrypted with its ENCRYPTION_KEYS would be lost.
set -eu

hex() { od -An -N "$1" -v -t x1 /dev/urandom | tr -d ' \n'; }

postgres_password=$(hex 24)
redis_password=$(hex 24)
cat << END
apiVersion: v1
kind: Secret
metadata:
  name: belfry
  namespace: belfry
type: Opaque
stringData:
  DATABASE_URL: postgresql://belfry:$postgres_password@belfry-postgres:5432/belfry
  API_DATABASE_URL: postgresql://belfry_api:$(hex 24)@belfry-postgres:5432/belfry
  SCHEDULER_DATABASE_URL: postgresql://belfry_scheduler:$(hex 24)@belfry-postgres:5432/belfry
  DISPATCHER_DATABASE_URL: postgresql://belfry_dispatcher:$(hex 24)@belfry-postgres:5432/belfry
  REDIS_URL: redis://:$redis_password@belfry-redis:6379
  JWT_SECRET: $(hex 32)
  ENCRYPTION_KEYS: k1:$(dd if=/dev/urandom bs=32 count=1 2> /dev/null | base64 | tr -d '\n')
  OPERATOR_PASSWORD: $(hex 12)
  POSTGRES_PASSWORD: $postgres_password
  REDIS_PASSWORD: $redis_password
END
