"""Waybill: where every parcel is."""
