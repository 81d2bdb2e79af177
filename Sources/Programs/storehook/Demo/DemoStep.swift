import Accounts
import Base
import EventStore
import Subscriptions

/// A notification of Apple's, as the shop lists it.
struct DemoPost {
    /// Apple's words.
    var type: String
    var subtype: String?
    var uuid: String
    var signedAt: Timestamp
    /// What came of the last attempt to post it; nil before the first.
    var result: String?

    init?(_ value: JSONValue) {
        guard let type = value["notificationType"]?.asText, let uuid = value["notificationUUID"]?.asText,
            let date = value["signedDate"]?.asInteger
        else { return nil }
        (self.type, self.uuid) = (type, uuid)
        subtype = value["subtype"]?.asText
        signedAt = Timestamp(millisecondsSince1970: date)
        result = value["sendAttempts"]?.asList.last?["sendAttemptResult"]?.asText
    }

    /// Type and subtype.
    var name: String { subtype.map { "\(type)/\($0)" } ?? type }
}

/// A step of a customer's life, with all that was seen of it.
struct DemoStep {
    var name: String
    /// What the customer does, or has done to him.
    var what: String
    var posts: [DemoPost] = []
    /// The purchase before and after.
    var before: SubscriptionView?
    var after: SubscriptionView?
    var events: [PlacedEvent] = []
    /// How the account was asked for, and the answer.
    var path = ""
    var answer = DemoAPI.Answer(status: 0, body: .null)

    init(name: String, what: String, before: SubscriptionView?) {
        self.name = name
        self.what = what
        self.before = before
    }

    /// A line of JSON.
    var json: JSONValue {
        [
            "step": .string(name), "what": .string(what),
            "posted": .array(
                posts.map { post in
                    [
                        "notificationType": .string(post.type), "subtype": .text(post.subtype),
                        "notificationUUID": .string(post.uuid), "signedAt": .time(post.signedAt),
                        "result": .text(post.result),
                    ]
                }),
            "before": Self.json(before), "after": Self.json(after),
            "events": .array(events.map { .written(Array($0.listed.utf8)) }),
            "request": .string("GET \(path)"), "status": .integer(Int64(answer.status)), "account": answer.body,
        ]
    }

    private static func json(_ view: SubscriptionView?) -> JSONValue {
        guard let view else { return .null }
        return [
            "originalTransactionId": .string(view.key.originalTransactionID), "productId": .text(view.productID),
            "status": .text(view.status?.rawValue), "periodEndsAt": .time(view.periodEndsAt),
            "accessUntil": .time(view.accessUntil), "willRenew": view.willRenew.map { .bool($0) } ?? .null,
        ]
    }
}
