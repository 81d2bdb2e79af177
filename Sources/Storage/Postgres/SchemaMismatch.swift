/// The schema does not let the migrations run.
public struct SchemaMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// The schema's state: newer or changed.
    public let state: SchemaState

    /// The state's line.
    public var description: String { state.description }
}
