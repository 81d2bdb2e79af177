#if canImport(Combine)
    import Combine

    /// The publisher of a model, which is isolated, for a protocol that is not.
    ///
    /// Unchecked: Combine's publisher locks what it holds, and not every version of Apple's SDK says that it is `Sendable`.
    struct WillChange: @unchecked Sendable {
        let publisher = ObservableObjectPublisher()
    }
#endif
