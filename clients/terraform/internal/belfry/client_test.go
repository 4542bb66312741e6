package belfry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// answer is one response of the stand-in for the API. Status 0 closes the connection.
type answer struct {
	status int
	body   string
	header map[string]string
}

type received struct {
	method, path, body, apiKey, idempotencyKey string
}

type stage struct {
	client *Client
	got    []received
	pauses []time.Duration
}

func open(t *testing.T, answers ...answer) *stage {
	t.Helper()
	stage := &stage{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		stage.got = append(stage.got, received{
			r.Method, r.URL.RequestURI(), string(body), r.Header.Get("X-Api-Key"), r.Header.Get("Idempotency-Key"),
		})
		next := answers[min(len(stage.got), len(answers))-1]
		if next.status == 0 {
			panic(http.ErrAbortHandler)
		}
		for name, value := range next.header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(next.status)
		_, _ = w.Write([]byte(next.body))
	}))
	t.Cleanup(server.Close)
	client, err := New(server.URL+"/", "bf_key", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	client.pause = func(_ context.Context, delay time.Duration) error {
		stage.pauses = append(stage.pauses, delay)
		return nil
	}
	stage.client = client
	return stage
}

func problem(status int, code string) answer {
	text, _ := json.Marshal(map[string]any{"code": code, "detail": "Why.", "request_id": "r1"})
	return answer{status: status, body: string(text)}
}

func TestRetriesAfterFailures(t *testing.T) {
	limited := problem(429, "rate_limited")
	limited.header = map[string]string{"Retry-After": "7"}
	stage := open(t, problem(503, "unavailable"), limited, problem(500, "internal"), answer{}, answer{status: 201, body: `{"id":"x"}`})
	var made struct{ ID string }
	body := map[string]any{"payload": json.RawMessage(`{"n":12345678901234567890,"html":"<b>"}`)}
	if err := stage.client.Create(t.Context(), "/things", body, &made, true); err != nil {
		t.Fatal(err)
	}
	if made.ID != "x" || len(stage.got) != 5 {
		t.Fatalf("%d requests, id %q", len(stage.got), made.ID)
	}
	first := stage.got[0]
	if first.body != `{"payload":{"n":12345678901234567890,"html":"<b>"}}`+"\n" || first.apiKey != "bf_key" || first.idempotencyKey == "" {
		t.Errorf("the request was %+v", first)
	}
	for _, request := range stage.got {
		if request != first {
			t.Errorf("a retry differs: %+v", request)
		}
	}
	if stage.pauses[1] < 7*time.Second {
		t.Errorf("the client waited %s after Retry-After: 7", stage.pauses[1])
	}
}

func TestDoesNotRepeatWhatMayHaveHappened(t *testing.T) {
	for _, failure := range []answer{problem(500, "internal"), problem(502, "internal"), problem(503, "unavailable"), {}} {
		stage := open(t, failure)
		if err := stage.client.Create(t.Context(), "/things", nil, nil, false); err == nil || len(stage.got) != 1 {
			t.Errorf("%d requests, error %v", len(stage.got), err)
		}
	}
}

func TestEndsRetries(t *testing.T) {
	for requests, failure := range map[int]answer{11: problem(429, "rate_limited"), 4: problem(500, "internal"), 1: problem(400, "x")} {
		stage := open(t, failure)
		if err := stage.client.Get(t.Context(), "/things", nil); err == nil || len(stage.got) != requests {
			t.Errorf("%d requests, want %d: %v", len(stage.got), requests, err)
		}
	}
	patient := problem(429, "rate_limited")
	patient.header = map[string]string{"Retry-After": "3600"}
	stage := open(t, patient)
	if err := stage.client.Get(t.Context(), "/things", nil); err == nil || len(stage.got) != 1 {
		t.Errorf("%d requests: %v", len(stage.got), err)
	}
}

func TestReportsWhetherAnAnswerWasLost(t *testing.T) {
	for _, lost := range []answer{problem(500, "internal"), problem(503, "unavailable"), {}} {
		stage := open(t, lost, problem(409, "key_in_use"))
		err := stage.client.Create(t.Context(), "/things", nil, nil, true)
		var refusal *Error
		if !errors.As(err, &refusal) || !refusal.FollowsLostAnswer {
			t.Errorf("the error is %+v", err)
		}
	}
	stage := open(t, problem(429, "rate_limited"), problem(409, "key_in_use"))
	var refusal *Error
	if !errors.As(stage.client.Create(t.Context(), "/things", nil, nil, true), &refusal) || refusal.FollowsLostAnswer {
		t.Errorf("the error is %+v", refusal)
	}
}

func TestKeepsTheKeyFromOtherHosts(t *testing.T) {
	other := open(t, answer{status: 200, body: "{}"})
	stage := open(t, answer{status: 302, header: map[string]string{"Location": other.client.baseURL}})
	if err := stage.client.Get(t.Context(), "/things", nil); err == nil || len(other.got) != 0 {
		t.Errorf("the client followed a redirect: %v", err)
	}
}

func TestDeletesWhatIsGone(t *testing.T) {
	stage := open(t, problem(404, "not_found"))
	if err := stage.client.Delete(t.Context(), "/things/x"); err != nil {
		t.Error(err)
	}
}

func TestFindsOnTheSecondPage(t *testing.T) {
	stage := open(t,
		answer{status: 200, body: `{"data":[{"id":"cron_1","key":null}],"next_cursor":"c&1"}`},
		answer{status: 200, body: `{"data":[{"id":"cron_2","key":"shop/a"}],"next_cursor":null}`})
	id, err := stage.client.FindID(t.Context(), CronJobs, "shop/a")
	if err != nil || id != "cron_2" || stage.got[1].path != CronJobs+"?cursor=c%261&limit=100" {
		t.Errorf("id %q, error %v, requests %+v", id, err, stage.got)
	}
}

func TestKnowsInsecureURLs(t *testing.T) {
	for url, isInsecure := range map[string]bool{
		"https://example.com": false, "http://example.com": true, "http://10.0.0.1:3000": true,
		"http://localhost:3000": false, "http://a.localhost": false, "http://127.0.0.2": false, "http://[::1]:3000": false,
	} {
		client, err := New(url, "bf_key", "1.2.3")
		if err != nil || client.IsInsecure() != isInsecure {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"example.com", "ftp://example.com", "https://user@example.com", "https://", "%"} {
		if _, err := New(url, "bf_key", "1.2.3"); err == nil {
			t.Errorf("%s is accepted", url)
		}
	}
}
