//! Webhooks and the calls to them.

use super::describe::{told, words};

words! {
    /// How a call stands.
    DeliveryState {
        Queued = "queued", Delivering = "delivering", Retrying = "retrying", Delivered = "delivered", Dead = "dead",
    }
}

told! {
    /// The webhook of a node.
    Webhook {
        node_id: String,
        registered: bool,
        url: Option<String>,
        enabled: bool,
        disabled_at: Option<String>,
        disabled_reason: Option<String>,
        /// How many calls in a row were given up.
        deaths: i64,
        old_secret_valid_until: Option<String>,
        created_at: Option<String>,
        deliveries: DeliveryCounts,
    }

    /// How many calls stand how.
    DeliveryCounts {
        queued: i64,
        delivering: i64,
        retrying: i64,
        delivered: i64,
        dead: i64,
    }

    /// A call to a webhook.
    Delivery {
        delivery_id: String,
        r#type: String,
        state: DeliveryState,
        attempts: i64,
        next_attempt_at: Option<String>,
        last_status: Option<i64>,
        last_error: Option<String>,
        created_at: String,
        updated_at: String,
        delivered_at: Option<String>,
    }

    /// A page of calls, newest first.
    DeliveryPage {
        deliveries: Vec<Delivery>,
        count: i64,
        has_more: bool,
        next_cursor: Option<String>,
    }

    /// A call that is sent again.
    DeliveryQueued {
        status: String,
        delivery_id: String;
        event_id: String,
    }

    /// A webhook's new secret.
    WebhookRotated {
        status: String,
        node_id: String,
        /// The only place where it is shown.
        webhook_secret: String,
        old_secret_valid_until: String,
    }
}
