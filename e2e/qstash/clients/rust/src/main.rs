// Calls the methods of the community's Rust client. Environment: QSTASH_URL, QSTASH_TOKEN, TARGET, SIGNATURE.
use qstash_rs::*;
use std::{env, time::Duration};

type Any = Box<dyn std::error::Error>;

fn delayed(url: &str) -> std::result::Result<PublishRequest, Any> {
    let builder = PublishRequest::builder(Destination::url(url)?);
    Ok(builder.body("x").delay_seconds(3600).retries(2).label("rust").build())
}

#[tokio::main]
async fn main() -> std::result::Result<(), Any> {
    let target = env::var("TARGET")?;
    let client = Client::builder(env::var("QSTASH_TOKEN")?).base_url(env::var("QSTASH_URL")?).build()?;
    let later = format!("{target}/later?a=b");

    client.publish(PublishRequest::builder(Destination::url(format!("{target}/rust"))?).body("from rust").build()).await?;
    let batch = client.batch([BatchRequest::new(delayed(&later)?), BatchRequest::new(delayed(&later)?).queue_name("rust")]).await?;
    let ids: Vec<&str> = batch.iter().filter_map(|message| message.message_id.as_deref()).collect();
    assert_eq!(ids.len(), 2);
    let message = client.messages().get(ids[0]).await?;
    assert_eq!((message.url.as_str(), message.max_retries), (later.as_str(), Some(2)));
    assert_eq!(message.caller_ip.as_deref(), Some("127.0.0.1"));
    client.messages().cancel(ids[0]).await?;
    assert!(client.messages().cancel(ids[0]).await.is_err());
    assert_eq!(client.messages().cancel_many([ids[1]]).await?.cancelled, 1);
    client.publish(delayed(&later)?).await?;
    let labelled = MessageFilter { label: Some("rust".into()), ..Default::default() };
    assert_eq!(client.messages().cancel_matching(&labelled).await?.cancelled, 1);
    assert_eq!(client.messages().cancel_all(None).await?.cancelled, 0);

    client.queues().upsert(QueueUpsertRequest { queue_name: "rs".into(), parallelism: 2 }).await?;
    client.queues().pause("rs").await?;
    assert!(client.queues().get("rs").await?.paused);
    client.queues().resume("rs").await?;
    assert!(client.queues().list().await?.iter().any(|queue| queue.name == "rs" && queue.parallelism == 2));
    client.queues().delete("rs").await?;

    let endpoint = Endpoint { name: Some("one".into()), url: format!("{target}/group") };
    client.url_groups().upsert_endpoints("rs", std::slice::from_ref(&endpoint)).await?;
    client.publish(PublishRequest::builder(Destination::url_group("rs")).body("x").build()).await?;
    assert_eq!(client.url_groups().get("rs").await?.endpoints.len(), 1);
    assert_eq!(client.url_groups().list().await?.len(), 1);
    client.url_groups().remove_endpoints("rs", &[endpoint]).await?;

    let schedule = ScheduleRequest::builder(Destination::url(format!("{target}/s"))?, "0 0 * * *").schedule_id("rs").build();
    assert_eq!(client.schedules().create(schedule).await?.schedule_id, "rs");
    client.schedules().pause("rs").await?;
    assert!(client.schedules().get("rs").await?.is_paused);
    client.schedules().resume("rs").await?;
    assert_eq!(client.schedules().list().await?.len(), 1);
    client.schedules().delete("rs").await?;

    client.publish(PublishRequest::builder(Destination::url(format!("{target}/dead"))?).body("x").retries(0).build()).await?;
    let dead = loop {
        let page = client.dlq().list(&DlqFilter::default()).await?;
        if let Some(first) = page.messages.into_iter().next() {
            break first;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(client.dlq().get(&dead.dlq_id).await?.response_status, Some(500));
    client.dlq().retry(&dead.dlq_id).await?;
    assert!(client.dlq().delete(&dead.dlq_id).await.is_err());

    let delivered = LogFilter { state: Some(LogState::Delivered), url: Some(format!("{target}/rust")), ..Default::default() };
    while client.logs().list(&delivered).await?.logs.is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    let keys = client.signing_keys().get().await?;
    let receiver = Receiver::new(ReceiverConfig { current_signing_key: keys.current, next_signing_key: keys.next.clone() });
    let (signature, url) = (env::var("SIGNATURE")?, format!("{target}/signed"));
    receiver.verify(VerifyRequest { signature: &signature, body: "signed ü".as_bytes(), url: Some(&url), clock_tolerance_seconds: 0 })?;
    assert_eq!(client.signing_keys().rotate().await?.current, keys.next);
    println!("all methods of the Rust client");
    Ok(())
}
