import EventStore

/// An endpoint and what waits for it, as a member of the staff sees it.
struct ShownAdminEndpoint: Sendable {
    /// The endpoint.
    let endpoint: Endpoint
    /// What waits for it.
    let standing: EndpointStanding?
    /// Why it is disabled, as it is shown.
    let reason: String?
    /// How many personal texts are shown in full.
    let openedTexts: Int64

    init(_ endpoint: Endpoint, _ standing: EndpointStanding?, _ opening: Opening) {
        self.endpoint = endpoint
        self.standing = standing
        let isPersonal = endpoint.reason.map { Endpoint.Fault(rawValue: $0) == nil } ?? false
        reason = isPersonal ? opening.text(endpoint.reason) : endpoint.reason
        openedTexts = opening.isOpen && isPersonal ? 1 : 0
    }
}

/// A delivery, as a member of the staff sees it.
struct ShownDelivery: Sendable {
    /// The delivery.
    let record: DeliveryRecord
    /// The account's id, as it is shown.
    let name: String?
    /// How many personal texts are shown in full.
    let openedTexts: Int64

    init(_ record: DeliveryRecord, _ opening: Opening) {
        self.record = record
        name = opening.text(record.name)
        openedTexts = opening.isOpen && record.name != nil ? 1 : 0
    }
}

/// A delivery by itself, with the calls that were made for it.
struct ShownDeliveryDetail: Sendable {
    /// A call, and what the endpoint said, as it is shown.
    struct Call: Sendable {
        /// The call.
        let attempt: DeliveryAttempt
        /// What the endpoint said: it may repeat what names a person.
        let answer: String?
    }

    /// The delivery.
    let shown: ShownDelivery
    /// The calls.
    let calls: [Call]
    /// How many personal texts are shown in full.
    let openedTexts: Int64

    init(_ record: DeliveryRecord, _ attempts: [DeliveryAttempt], _ opening: Opening) {
        shown = ShownDelivery(record, opening)
        calls = attempts.map { Call(attempt: $0, answer: opening.text($0.answer)) }
        let opened = opening.isOpen ? attempts.count { $0.answer != nil } : 0
        openedTexts = shown.openedTexts + Int64(opened)
    }
}
