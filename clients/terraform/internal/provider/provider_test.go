package provider

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"terraform-provider-belfry/internal/belfry"
)

func TestFindsTheAttributeOfAField(t *testing.T) {
	for field, want := range map[string]string{
		"cron":                         "cron",
		"retry.max_retries":            "retry.max_retries",
		"retry.unknown":                "retry",
		"headers.X.Y":                  `headers["X.Y"]`,
		"payload.a.b":                  "payload",
		"labels.2":                     "labels",
		"on_failure.url":               "on_failure.url",
		"on_failure.retry.backoff":     "on_failure.retry.backoff",
		"on_failure.headers.X-Request": `on_failure.headers["X-Request"]`,
	} {
		if at, ok := attributePath(cronJobSchema().Attributes, field); !ok || at.String() != want {
			t.Errorf("%s: %s", field, at)
		}
	}
	if _, ok := attributePath(cronJobSchema().Attributes, "Idempotency-Key"); ok {
		t.Error("a header of the request is no attribute")
	}
}

func TestTakesOverAnObjectWhoseCreationWasNotAnswered(t *testing.T) {
	var methods []string
	var change map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods = append(methods, r.Method)
		switch {
		case r.Method == http.MethodPost && len(methods) == 1:
			w.WriteHeader(500)
		case r.Method == http.MethodPost:
			w.WriteHeader(409)
			_, _ = w.Write([]byte(`{"code":"key_in_use","detail":"In use.","request_id":"r"}`))
		case r.Method == http.MethodGet:
			_, _ = w.Write([]byte(`{"data":[{"id":"int_1","key":"shop/x"}],"next_cursor":null}`))
		default:
			_ = json.NewDecoder(r.Body).Decode(&change)
			_, _ = w.Write([]byte(`{"id":"int_1"}`))
		}
	}))
	defer server.Close()
	client, err := belfry.New(server.URL, "bf_key", "dev")
	if err != nil {
		t.Fatal(err)
	}
	var made belfry.Integration
	body := map[string]any{"key": "shop/x", "name": "x", "channel": "slack"}
	err = (&connection{client}).create(t.Context(), belfry.Integrations, body, &made)
	if err != nil || made.ID != "int_1" {
		t.Errorf("id %q, error %v after %v", made.ID, err, methods)
	}
	if canonical(change) != `{"key":"shop/x","name":"x"}` {
		t.Errorf("the change was %v", change)
	}
}

func TestComparesSpellings(t *testing.T) {
	for _, one := range []struct {
		same sameAs
		a, b string
		want bool
	}{
		{sameCron, "0  3 * * *", "0 3 * * *", true},
		{sameCron, "0 3 * * *", "0 4 * * *", false},
		{sameTime, "2030-01-01T01:00:00+01:00", "2030-01-01T00:00:00.000Z", true},
		{sameTime, "2030-01-01T01:00:00Z", "2030-01-01T00:00:00Z", false},
		{sameTime, "soon", "soon", false},
		{sameJSON, `{"a":1,"b":[1, 2]}`, `{ "b": [1,2], "a": 1 }`, true},
		{sameJSON, `12345678901234567890`, `12345678901234567891`, false},
		{sameJSON, `{"a":1} x`, `{"a":1}`, false},
	} {
		if one.same(one.a, one.b) != one.want {
			t.Errorf("%s and %s", one.a, one.b)
		}
	}
}
