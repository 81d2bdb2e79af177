public import AppStorePayloads

/// Send Consumption Information, version 2: the answer to a CONSUMPTION_REQUEST, within 12 hours of its signedDate.
public struct ConsumptionInformationRequest: ServerRequest {
    /// The transaction that the notification named.
    public let transactionId: String
    /// What is told.
    public let information: ConsumptionInformation

    /// Tells this of this transaction; nil without the customer's consent, for then nothing may be sent.
    public init?(_ transactionId: String, _ information: ConsumptionInformation) {
        guard information.customerConsented else { return nil }
        self.transactionId = transactionId
        self.information = information
    }

    /// The call.
    public var endpoint: Endpoint { .consumptionInformation }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v2", "transactions", "consumption", transactionId) }

    /// The JSON text that is sent.
    public var body: [UInt8]? {
        var body = RequestBody()
        body.add("customerConsented", information.customerConsented)
        body.add("deliveryStatus", information.deliveryStatus.rawValue)
        body.add("sampleContentProvided", information.sampleContentProvided)
        body.add("consumptionPercentage", information.consumptionPercentage)
        body.add("refundPreference", information.refundPreference?.rawValue)
        return body.bytes
    }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Accepted { Accepted() }
}
