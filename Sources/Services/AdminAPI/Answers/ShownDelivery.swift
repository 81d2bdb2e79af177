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
