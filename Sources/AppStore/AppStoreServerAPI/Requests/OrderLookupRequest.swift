/// Look Up Order ID: the purchases behind the order number on a customer's receipt. Production alone has it.
public struct OrderLookupRequest: ServerRequest {
    /// The order number, as Apple mailed it to the customer.
    public var orderId: String

    /// Asks for this order.
    public init(_ orderId: String) { self.orderId = orderId }

    /// The call.
    public var endpoint: Endpoint { .orderLookup }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "lookup", orderId) }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> OrderLookup { try OrderLookup(&reader) }
}
