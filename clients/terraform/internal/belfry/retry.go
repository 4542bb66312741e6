package belfry

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	firstDelay    = 500 * time.Millisecond
	maxDelay      = 8 * time.Second
	maxRetryAfter = 60 * time.Second
	// A large configuration may meet the rate limit, which says when to continue.
	maxRetries = 10
	// A mistyped URL or an installation that is down should fail soon.
	maxRetriesWithoutAnswer = 3
)

// retryDelay returns the delay before a retry, and whether there is one. After 429 nothing has changed, and a refused connection
// has carried nothing, so a retry is safe. Other failures, such as a commit whose end a 503 does not know, allow it for
// repeatable requests only.
func retryDelay(err error, retries int, isRepeatable bool) (time.Duration, bool) {
	backoff := time.Duration(float64(min(firstDelay<<retries, maxDelay)) * (0.5 + rand.Float64()/2))
	var refusal *Error
	if !errors.As(err, &refusal) {
		isSafe := isRepeatable || !isAmbiguous(err)
		return backoff, isConnectionError(err) && isSafe && retries < maxRetriesWithoutAnswer
	}
	if retries >= maxRetries {
		return 0, false
	}
	switch {
	case refusal.Code == "idempotency_in_progress":
		return backoff, true
	case refusal.Status == http.StatusTooManyRequests || (refusal.Status == http.StatusServiceUnavailable && isRepeatable):
		return max(refusal.retryAfter, backoff), refusal.retryAfter <= maxRetryAfter
	default:
		return backoff, isRepeatable && isAmbiguous(err) && retries < maxRetriesWithoutAnswer
	}
}

// isAmbiguous returns whether the API may have done what the request asks for.
func isAmbiguous(err error) bool {
	var refusal *Error
	if errors.As(err, &refusal) {
		switch refusal.Status {
		case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	var operation *net.OpError
	return isConnectionError(err) && !(errors.As(err, &operation) && operation.Op == "dial")
}

func isConnectionError(err error) bool {
	var failed *url.Error
	return errors.As(err, &failed) && !errors.Is(err, context.Canceled)
}

func readRetryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
